"""Where a call came from: cheap to take, turned into text only where it is shipped.

A taken stack is a flat tuple `(code, instruction, code, instruction, …)`, innermost frame first.
It holds code objects, never frames: a frame would keep the app's locals alive.
"""

from __future__ import annotations

import dis
import json
import linecache
import os
import sys

from . import _limits as limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from types import CodeType, FrameType

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Ours, and what the interpreter runs a module and imports with: nobody debugs those.
_PLUMBING = (_HERE, "<frozen ")
_lines: dict[Any, Any] = {}
_texts: dict[Any, tuple[Any, str]] = {}


def take(frame: FrameType | None, most: Any) -> Any:
    taken: list[Any] = []
    while frame is not None and most:
        taken.append(frame.f_code)
        taken.append(frame.f_lasti)
        frame = frame.f_back
        most -= 1
    return tuple(taken)


def take_all(frame: FrameType | None) -> Any:
    """For a call that asks: more frames, none of them plumbing."""
    taken: list[Any] = []
    while frame is not None and len(taken) < 2 * limits.FRAMES_ASKED:
        if not frame.f_code.co_filename.startswith(_PLUMBING):
            taken.append(frame.f_code)
            taken.append(frame.f_lasti)
        frame = frame.f_back
    return tuple(taken)


def json_text(taken: Any) -> str:
    """The stack as a JSON list, remembered: programs call from the same places over and over."""
    key = tuple([id(part) if index % 2 == 0 else part for index, part in enumerate(taken)])
    known = _texts.get(key)
    if known is not None:
        return known[1]
    text = json.dumps(frames(taken))
    if len(_texts) >= limits.STACK_CACHE:
        _texts.clear()
    # The code objects are kept with the text, so that their ids stay theirs.
    _texts[key] = (taken, text)
    return text


def frames(taken: Any) -> list[dict[str, Any]]:
    found = []
    for index in range(0, len(taken), 2):
        code, instruction = taken[index], taken[index + 1]
        filename = code.co_filename
        if filename.startswith(_PLUMBING):
            continue
        line = line_of(code, instruction)
        found.append(
            {
                "filename": filename,
                "lineno": line,
                "function": getattr(code, "co_qualname", code.co_name),
                "code_context": source_line(filename, line),
            }
        )
    return found


def source_line(filename: str, line: int) -> Any:
    try:
        text = linecache.getline(filename, line).strip()
    except Exception:
        return None
    return text[: limits.LINE_CHARS] or None


def line_of(code: CodeType, instruction: Any) -> Any:
    known = _lines.get(id(code))
    if known is None or known[0] is not code:
        if len(_lines) >= limits.STACK_CACHE:
            _lines.clear()
        known = _lines[id(code)] = (code, list(dis.findlinestarts(code)))
    line = code.co_firstlineno
    for start, number in known[1]:
        if start > instruction:
            break
        if number is not None:
            line = number
    return line


def is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_HERE)


def caller(depth: int) -> FrameType | None:
    """The nearest frame that is not ours."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame
