#!/usr/bin/env python3
"""Draws docs/rooms.svg: the components and which may include which, read from src/CMakeLists.txt.

    docs/rooms.py [--check]     --check: exit with 1 if the file is not up to date
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The folders' positions: rows from the top, and each folder's middle.
ROWS = [{"grpc": 250, "apps/saccade": 480}, {"serve": 250, "validate": 480, "http": 760}, {"measure": 480, "show": 135},
        {"ffmpeg": 60, "images": 170, "nvdec": 280, "draw": 390, "pipeline": 480, "cuda": 655, "cpu": 840, "onnx": 970, "metrics": 1110},
        {"media": 135, "vision": 325, "passes": 500, "runtime": 710}, {"scene": 135, "ops": 560}, {"graph": 560, "mqtt": 860},
        {"tensor": 560}, {"base": 560}]
WIDTH, GAP = 1180, 46
BOX, HIGH, LEVEL = 92, 24, 42  # a component inside a folder; the distance of two levels
ALONE, TALL, TITLE, EDGE = 104, 36, 22, 10  # a folder that is one component; a frame's title and margin
FILL = {"room": "#e8f0fe", "module": "#fef3e0", "app": "#e6f4ea"}
FRAME = {"room": "#f6f9ff", "module": "#fffaf0"}


def folder_of(room):
    return room if room.startswith("apps/") else room.split("/")[0]


def read_rooms():
    """The kind and the declared dependencies of each component, by name."""
    with open(os.path.join(HERE, "..", "src", "CMakeLists.txt")) as file:
        text = file.read()
    found = {}
    for kind, name, rest in re.findall(r"saccade_(room|module|module_part)\(([\w/]+)([^)]*)\)", text):
        lists = {}
        words = lists.setdefault("", [])
        for word in rest.split():
            if word in ("DIR", "PARTS", "DEPENDS", "LIBRARIES"):
                words = lists.setdefault(word, [])
            else:
                words.append(word)
        depends = lists.get("DEPENDS", [])
        if kind == "module_part":  # a module may include all of its parts
            module, name = name, f"{name}/{lists[''][0]}"
            depends = [f"{module}/{part}" for part in depends]
            found[module][1].append(name)
        found[name] = (kind, depends)
    found["apps/saccade"] = ("app", ["validate", "measure/demo", "measure/bench", "measure/live", "serve"])
    return found


def reduced(edges):
    """EDGES without those that follow from others."""
    def reaches(start, end, skipped):
        stack = [b for a, b in edges if a == start and (a, b) != skipped]
        seen = set()
        while stack:
            at = stack.pop()
            if at == end:
                return True
            if at not in seen:
                seen.add(at)
                stack += [b for a, b in edges if a == at]
        return False
    return sorted(edge for edge in edges if not reaches(*edge, edge))


def levels_of(names, edges):
    """The components of a folder in levels from the top: each is above all that it includes and directly below those
    that include it."""
    def depth(name):
        return 1 + max((depth(b) for a, b in edges if a == name), default=-1)
    depths = {name: depth(name) for name in names}
    levels = {}
    for name in names:
        above = [depths[a] for a, b in edges if b == name]
        levels.setdefault(min(above) - 1 if above else depths[name], []).append(name)
    result = [levels[d] for d in sorted(levels, reverse=True)]
    for above, level in zip(result, result[1:]):
        def middle(name):
            users = [above.index(a) for a, b in edges if b == name and a in above]
            return sum(users) / len(users) if users else len(above)
        level.sort(key=middle)
    return result


class Folder:
    """A folder of components as a box with inner boxes, or a single component as one box."""

    def __init__(self, name, rooms):
        self.name = name
        self.names = [r for r in rooms if folder_of(r) == name]
        edges = {(a, b) for a in self.names for b in rooms[a][1] if b in self.names}
        self.edges = reduced(edges)
        self.alone = len(self.names) == 1
        self.levels = levels_of(self.names, edges)
        widest = max(map(len, self.levels))
        self.width = ALONE if self.alone else widest * (BOX + EDGE) + EDGE
        self.height = TALL if self.alone else TITLE + LEVEL * (len(self.levels) - 1) + HIGH + EDGE
        self.kind = "module" if any(rooms[n][0] == "module" for n in self.names) else rooms[self.names[0]][0]

    def put(self, x, y, bottom):
        self.x, self.y, self.bottom = x, y, bottom  # that of its row
        self.place = {}
        for i, level in enumerate(self.levels):
            step = BOX + EDGE
            for j, name in enumerate(level):
                self.place[name] = (x + step * (j - (len(level) - 1) / 2), y + TITLE + LEVEL * i + HIGH / 2)

    def draw(self):
        if self.alone:
            return [rectangle(self.x - self.width / 2, self.y, self.width, self.height, FILL[self.kind]),
                    text(self.x, self.y + TALL / 2 + 5, self.name, 14)]
        out = [rectangle(self.x - self.width / 2, self.y, self.width, self.height, FRAME[self.kind]),
               text(self.x, self.y + 15, self.name + "/", 13, "bold")]
        out += [arrow(self.place[a][0], self.place[a][1] + HIGH / 2, self.place[b][0], self.place[b][1] - HIGH / 2)
                for a, b in self.edges]
        for name, (x, y) in self.place.items():
            own = name == self.name
            out += [rectangle(x - BOX / 2, y - HIGH / 2, BOX, HIGH, FILL[self.kind]),
                    text(x, y + 4, "its own files" if own else name.split("/", 1)[1], 12)]
        return out


def rectangle(x, y, width, height, fill):
    return (f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="6" fill="{fill}" '
            'stroke="#556"/>')


def text(x, y, what, size, weight="normal"):
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle" font-size="{size}" font-weight="{weight}">{what}</text>')


def arrow(x1, y1, x2, y2, start=None):
    """An arrow to (x2, y2) from (x1, y1), or from START straight down to y1 and on."""
    bend = (y2 - y1) / 2
    return path(f"M{x1:.0f} {y1 if start is None else start:.0f} V{y1:.0f} "
                f"C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}")


def path(data):
    return f'<path d="{data}" fill="none" stroke="#889" marker-end="url(#a)"/>'


def link(here, there, skips):
    """An arrow from the folder HERE down to THERE. It passes beside the rows in between if it SKIPS some."""
    half = there.width / 2
    if skips and abs(here.x - there.x) > half:
        y = there.y + there.height / 2
        side = 1 if here.x > there.x else -1
        bend = f"V{y - 20:.0f} Q{here.x:.0f} {y:.0f} {here.x - side * 20:.0f} {y:.0f} H{there.x + side * half:.0f}"
        return path(f"M{here.x:.0f} {here.y + here.height:.0f} {bend}")
    x = min(max(here.x, there.x - half + 20), there.x + half - 20)
    return arrow(here.x, here.bottom, x, there.y, here.y + here.height)


def legend(y):
    out = []
    for i, (kind, what) in enumerate((("room", "component of libsaccade.so"), ("module", "module, opened when needed"),
                                      ("app", "program"))):
        x = 40 + 260 * i
        out += [rectangle(x, y - 12, 18, 14, FILL[kind]), f'<text x="{x + 26}" y="{y}" font-size="13">{what}</text>']
    return out


def main():
    rooms = read_rooms()
    unknown = {d for _, depends in rooms.values() for d in depends} - set(rooms)
    assert not unknown, f"not a room: {unknown}"
    folders = {name: Folder(name, rooms) for name in dict.fromkeys(map(folder_of, rooms))}
    missing = set(folders) ^ {name for row in ROWS for name in row}
    assert not missing, f"folders without a position in the diagram, or positions without a folder: {missing}"
    row_of = {name: i for i, row in enumerate(ROWS) for name in row}
    y = 20
    for row in ROWS:
        bottom = y + max(folders[name].height for name in row)
        for name, x in row.items():
            folders[name].put(x, y, bottom)
        y = bottom + GAP
    edges = {(folder_of(a), folder_of(b)) for a, (_, depends) in rooms.items() for b in depends}
    edges = reduced({(a, b) for a, b in edges if a != b})
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" font-family="sans-serif">',
           '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
           '<rect width="100%" height="100%" fill="white"/>']
    for a, b in edges:
        out.append(link(folders[a], folders[b], row_of[b] > row_of[a] + 1))
    for folder in folders.values():
        out += folder.draw()
    out += legend(y - 12)
    out.append("</svg>")
    drawn = "\n".join(out) + "\n"
    path = os.path.join(HERE, "rooms.svg")
    if "--check" in sys.argv:
        with open(path) as file:
            sys.exit(0 if file.read() == drawn else "docs/rooms.svg is not up to date: run docs/rooms.py")
    with open(path, "w") as file:
        file.write(drawn)


if __name__ == "__main__":
    main()
