"""Level exam: for graded work, where somebody may want to deceive the judge.

Fresh attackers got one silencer in seven past draws that were merely random, all of them code that behaves
by something else than its arguments. So at this level each draw is called in every way there is, much is
drawn often, whatever may run changed code is measured, and what passes is attacked.
"""

from __future__ import annotations

from engine.exam import attack
from engine.judge.level import MODES, PRACTICE, Level
from engine.judge.sampling import FIX_DRAWS
from engine.run.types import CALL_VARIANTS, LATE

EXAM = Level("exam", FIX_DRAWS, "all", (MODES, *CALL_VARIANTS, LATE), (attack.by(),), exam=True)
LEVELS = {level.name: level for level in (PRACTICE, EXAM)}
