"""The methods and their options as the tables of docs/anonymize.md: `python docs/method_tables.py` prints them."""

from __future__ import annotations

from shoal.methods import METHODS


def methods_table() -> str:
    """One row per method: what it does, its options with their defaults, where it comes from."""
    lines = ["| method | object | what it does | options | source |", "|---|---|---|---|---|"]
    for name, kind in METHODS.items():
        options = ", ".join(f"`{option}`" for option in kind.model_fields)
        more = f" ([more]({kind.page}))" if kind.page else ""
        lines.append(f"| `{name}` | `shoal.{kind.__name__}` | {kind.does}{more} | {options} | {kind.source} |")
    return "\n".join(lines)


def options_table() -> str:
    """One row per option of a method, with its default and description."""
    lines = ["| method | option | default | what it says |", "|---|---|---|---|"]
    for name, kind in METHODS.items():
        for option, field in kind.model_fields.items():
            default = "" if field.default in (None, {}, []) else f"`{field.default}`"
            text = (field.description or "").replace("|", "\\|").replace("*", "\\*")
            lines.append(f"| `{name}` | `{option}` | {default} | {text} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(methods_table(), options_table(), sep="\n\n")
