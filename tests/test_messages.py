"""Error messages keep to one pattern: one sentence that states the requirement."""

import ast
from pathlib import Path

import kboost

SOURCE = Path(kboost.__file__).parent
ERRORS = ("ValueError", "TypeError", "AttributeError")
REQUIREMENTS = ("must", "require", "cannot", "need")
BANNED = (
    " a row;",
    " a row ",
    "as it is",
    "at work",
    "by claim",
    "learnt",
    "nobody",
    "one behind the other",
    "speaks",
    "told",
    "wants",
)
EXCEPTIONS = (
    "{} is damaged: {}.",  # a model file that cannot be read, with the reason
    "module 'kboost' has no attribute {}",  # Python's own words
)


def text_of(node):
    """The literal text of an expression, with {} for what is inserted; None if it has none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (text_of(node.left) or "{}") + (text_of(node.right) or "{}")
    return None


def messages(path):
    """The messages of the errors that a file creates, each with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        is_error = isinstance(node, ast.Call) and getattr(node.func, "id", None) in ERRORS
        if is_error and node.args and (text := text_of(node.args[0])) is not None:
            yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def faults(message):
    """What is wrong with a message; empty if nothing is."""
    if message in EXCEPTIONS:
        return []
    found = [f"says {phrase!r}" for phrase in BANNED if phrase in message]
    if not message.endswith("."):
        found.append("does not end with a full stop")
    if ". " in message.removesuffix("."):
        found.append("has several sentences")
    if not any(word in message for word in REQUIREMENTS):
        found.append("states no requirement")
    return found


def test_every_message_states_the_requirement_in_one_sentence():
    cases = [case for path in sorted(SOURCE.rglob("*.py")) for case in messages(path)]
    assert len(cases) > 100
    assert [(where, wrong) for where, text in cases if (wrong := faults(text))] == []
