// Requests to the server that this page is from.

const $ = id => document.getElementById(id);

/** What the server responded with, or why it did not. */
class RequestError extends Error {
  /** STATUS 0: there is no response. WAIT: the seconds after which the server wants the request again. */
  constructor(message, status, wait = 0) {
    super(message);
    this.status = status;
    this.wait = wait;
  }
}

const tokens = {
  key: "saccade-token",
  memory: "",
  get value() {
    try {
      return sessionStorage.getItem(this.key) ?? this.memory;
    } catch {
      return this.memory;  // the browser keeps nothing for this page
    }
  },
  set value(token) {
    this.memory = token;
    try {
      sessionStorage.setItem(this.key, token);
    } catch {
      // As above.
    }
  },
};

async function sentenceOf(response) {
  try {
    return (await response.json()).error ?? response.statusText;
  } catch {
    return `${response.status} ${response.statusText}`;
  }
}

/** The response to METHOD on PATH, which is one with status 200. Throws RequestError. */
async function request(path, { method = "GET", body, signal, type } = {}) {
  const headers = {};
  if (tokens.value) headers.Authorization = `Bearer ${tokens.value}`;
  if (type) headers["Content-Type"] = type;
  let response;
  try {
    response = await fetch(path, { method, body, headers, signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError("The server can't be reached.", 0);
  }
  if (response.ok) return response;
  const error =
    new RequestError(await sentenceOf(response), response.status, Number(response.headers.get("Retry-After")) || 0);
  if (error.status === 401) askForToken(tokens.value !== "");
  throw error;
}

/** Shows the field for the token. IS_WRONG: there was one. */
function askForToken(isWrong) {
  const form = $("token-form");
  if (isWrong) $("token-note").textContent = "The server does not take this token.";
  if (!form.hidden) return;
  form.hidden = false;
  $("token").focus();
}

$("token-form").addEventListener("submit", event => {
  event.preventDefault();
  const token = $("token").value.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) {
    $("token-note").textContent = "A token is printable ASCII characters without spaces.";
    return;
  }
  tokens.value = token;
  $("token").value = "";
  $("token-form").hidden = true;
  document.dispatchEvent(new Event("token"));
});
