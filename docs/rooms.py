#!/usr/bin/env python3
"""Draws docs/rooms.svg: the rooms and which may include which, read from src/CMakeLists.txt."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = [["apps/saccade"], ["validate"], ["measure"], ["pipeline"], ["passes", "runtime", "vision", "media"], ["onnx", "cpu", "cuda", "draw", "ffmpeg", "images"],
        ["ops", "scene"], ["graph"], ["tensor"], ["base"]]
WIDTH, BOX, HIGH, STEP = 980, 150, 44, 86


def rooms():
    with open(os.path.join(HERE, "..", "src", "CMakeLists.txt")) as file:
        text = file.read()
    found = {}
    for kind, name, rest in re.findall(r"saccade_(room|module)\((\w+)([^)]*)\)", text):
        depends = re.search(r"DEPENDS ([\w ]+?)(?: LIBRARIES|$)", rest.strip())
        found[name] = (kind, [d for d in depends.group(1).split() if d != "LIBRARIES"] if depends else [])
    found["apps/saccade"] = ("app", ["validate"])
    return found


def main():
    all_rooms = rooms()
    place = {}
    for y, row in enumerate(ROWS):
        gap = WIDTH / len(row)
        for x, name in enumerate(row):
            place[name] = (gap * (x + 0.5), 40 + STEP * y)
    missing = set(all_rooms) - set(place)
    assert not missing, f"rooms without a place in the picture: {missing}"
    fill = {"room": "#e8f0fe", "module": "#fef3e0", "app": "#e6f4ea"}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {STEP * len(ROWS) + 30}" font-family="sans-serif">',
           '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
           '<rect width="100%" height="100%" fill="white"/>']
    for name, (_, depends) in all_rooms.items():
        for other in depends:
            (x1, y1), (x2, y2) = place[name], place[other]
            up = 1 if y2 > y1 else -1
            out.append(f'<path d="M{x1:.0f} {y1 + up * HIGH / 2:.0f} C{x1:.0f} {y1 + up * STEP * 0.6:.0f} {x2:.0f} '
                       f'{y2 - up * STEP * 0.6:.0f} {x2:.0f} {y2 - up * HIGH / 2:.0f}" fill="none" stroke="#889" marker-end="url(#a)"/>')
    for name, (kind, _) in all_rooms.items():
        x, y = place[name]
        out.append(f'<rect x="{x - BOX / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{BOX}" height="{HIGH}" rx="6" '
                   f'fill="{fill[kind]}" stroke="#556"/><text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" '
                   f'font-size="15">{name}</text>')
    y = STEP * len(ROWS) + 12
    for i, (kind, what) in enumerate((("room", "room of libsaccade.so"), ("module", "module, opened when needed"), ("app", "program"))):
        x = 40 + 260 * i
        out.append(f'<rect x="{x}" y="{y - 12}" width="18" height="14" fill="{fill[kind]}" stroke="#556"/>'
                   f'<text x="{x + 26}" y="{y}" font-size="13">{what}</text>')
    out.append("</svg>")
    with open(os.path.join(HERE, "rooms.svg"), "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
