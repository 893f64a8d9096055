"""Name the version of kboost in its bill of materials; pyproject.toml does not have it."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

path = Path(sys.argv[1])
bill = json.loads(path.read_text(encoding="utf-8"))
bill["metadata"]["component"]["version"] = version("kboost")
path.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
names = [f"{part['name']} {part['version']}" for part in bill["components"]]
print(f"{path}: kboost {version('kboost')} with {', '.join(names)}")
