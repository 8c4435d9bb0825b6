"""An existing page held against the result files beside it: which number comes from which field, and which from none.

The page is read first, so that only what its words and numbers can refer to is indexed; then the files are streamed
into one index of values; then each number is judged. Nothing is run and nothing is written.
"""
