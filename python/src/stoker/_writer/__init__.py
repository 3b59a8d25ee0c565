"""`Writer`: takes samples, decides fields, and packs and writes chunks in a background thread."""
