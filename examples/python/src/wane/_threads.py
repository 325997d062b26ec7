"""The number of threads of a call."""

threads = 0


def set_threads(count):
    """Calls use `count` threads; 0, as at first, means as many as OpenMP does.

    Outputs are the same bits for any number. A short call uses fewer.
    """
    global threads
    if count < 0:
        raise ValueError(f"count is {count}; it must be 0 or more")
    threads = int(count)


def get_threads():
    """The number that set_threads() was given, or 0."""
    return threads
