package units

import "strconv"

// Size writes a number of bytes: "812 bytes", "1.2 MB", in thousands.
func Size(n int64) string {
	if n < 1000 && n > -1000 {
		return Count(int(n), "byte", "bytes")
	}
	v, unit := float64(n), 0
	units := [...]string{"bytes", "KB", "MB", "GB", "TB", "PB", "EB"}
	for v >= 999.5 || v <= -999.5 {
		v /= 1000
		unit++
	}
	digits := 0
	if v < 9.95 && v > -9.95 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + units[unit]
}

// Count writes a number and the word for it: "1 file", "2,000 files".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(int64(n)) + " " + many
}

// Number writes a count with its thousands apart: "2,000".
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
