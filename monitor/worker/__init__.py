"""The worker's parent and children around the engine."""

WAKE_UP = "comboio.drain"  # the name of the task
WAKE_UP_SECONDS = 5  # an older wake-up says nothing new: the parent polls every second
