package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// ellipsis stands for what was cut.
const ellipsis = "…"

// Cells is the number of columns that s takes on a terminal: wide characters
// and emoji take two, combining marks none. s has no escape codes.
func Cells(s string) int {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// CutEnd shortens s to cells columns; what was cut is shown as "…".
func CutEnd(s string, cells int) string {
	if Cells(s) <= cells {
		return s
	}
	if cells <= 0 {
		return ""
	}
	return strings.TrimRight(head(s, cells-1), " ") + ellipsis
}

// CutMiddle shortens s to cells columns by taking out its middle: the end of a
// path or a model's name tells as much as its begin.
func CutMiddle(s string, cells int) string {
	if Cells(s) <= cells {
		return s
	}
	if cells <= 0 {
		return ""
	}
	front := head(s, cells/2)
	return front + ellipsis + tail(s, cells-1-Cells(front))
}

// head gives the longest begin of s that fits.
func head(s string, cells int) string {
	rest, state, used := s, -1, 0
	for rest != "" {
		var width int
		before := rest
		_, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += width; used > cells {
			return s[:len(s)-len(before)]
		}
	}
	return s
}

// tail gives the longest end of s that fits.
func tail(s string, cells int) string {
	over := Cells(s) - cells
	rest, state := s, -1
	for over > 0 && rest != "" {
		var width int
		_, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
		over -= width
	}
	return rest
}
