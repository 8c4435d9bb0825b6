"""A package whose modules hold two rules of one code, which a catalogue must refuse."""
