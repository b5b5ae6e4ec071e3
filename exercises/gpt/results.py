"""What a fact answers: (value, place, why). value None: it cannot be told or does not apply, as why says."""


def missing(why):
    return None, None, why


def span(event):
    """[file, first line, last line, first column, last column] of an event."""
    if event is None or not event["at"]:
        return None
    path, _, first, last, left, right = event["at"][0]
    return [path, first, last, left, right]
