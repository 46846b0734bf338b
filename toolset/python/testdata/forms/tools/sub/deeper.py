from ..helper import NAME as above

NAME = "deeper than " + above
