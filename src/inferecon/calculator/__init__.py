"""The calculator of the page: the same laws and records, and what a reader's browser needs of them.

``modules`` holds ES modules that Node tests one by one; ``bundle`` makes one classic script of
them, because a browser loads no module from a folder on disk.
"""
