package cmdline

import (
	"errors"
	"regexp"
	"strconv"
	"time"
)

// ErrSince says what a day can be.
var ErrSince = errors.New("a number of days or weeks such as 7d or 4w, or a date such as 2026-01-31")

// maxSince bounds the number of days or weeks; who wants all leaves it out.
const maxSince = 10_000

// ParseSince gives the begin of the first day that is meant. Days are counted
// by the calendar, and today is one of them.
func ParseSince(text string, now time.Time) (time.Time, error) {
	year, month, day := now.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	if m := regexp.MustCompile(`^([0-9]{1,5})([dw])$`).FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || n == 0 || n > maxSince {
			return time.Time{}, ErrSince
		}
		if m[2] == "w" {
			n *= 7
		}
		return today.AddDate(0, 0, 1-n), nil
	}
	date, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil || date.After(now) {
		return time.Time{}, ErrSince
	}
	return date, nil
}
