package term

import (
	"strconv"
	"time"

	"github.com/fettle-cli/fettle/internal/units"
)

// Ago says how long before now t was, in the words that a person would use;
// what is over a week ago is a date. A t in the future, by clocks that differ,
// is "just now" up to a minute.
func Ago(now, t time.Time) string {
	d := now.Sub(t)
	days := calendarDays(now, t)
	switch {
	case d < -time.Minute:
		return t.In(now.Location()).Format(time.DateOnly)
	case d < 5*time.Second:
		return "just now"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s ago"
	case d < time.Hour:
		return Count(int(d.Minutes()), "minute", "minutes") + " ago"
	case d < 24*time.Hour:
		return Count(int(d.Hours()), "hour", "hours") + " ago"
	case days == 1:
		return "yesterday"
	case days < 7:
		return Count(days, "day", "days") + " ago"
	}
	return t.In(now.Location()).Format(time.DateOnly)
}

// calendarDays counts midnights between t and now, where now is.
func calendarDays(now, t time.Time) int {
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	y, m, d = t.In(now.Location()).Date()
	return int(today.Sub(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)).Hours() / 24)
}

// Size writes a number of bytes: "812 bytes", "1.2 MB", in thousands.
func Size(n int64) string { return units.Size(n) }

// Duration writes how long something took: "320 ms", "1.2 s", "41 s",
// "2 min 5 s", "1 h 4 min", "3 d 2 h".
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return twoUnits(d, time.Minute, " min", time.Second, " s")
	case d < 24*time.Hour:
		return twoUnits(d, time.Hour, " h", time.Minute, " min")
	}
	return twoUnits(d, 24*time.Hour, " d", time.Hour, " h")
}

func twoUnits(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	s := strconv.FormatInt(int64(d/big), 10) + bigName
	if rest := d % big / small; rest > 0 {
		s += " " + strconv.FormatInt(int64(rest), 10) + smallName
	}
	return s
}

// Count writes a number and the word for it: "1 file", "2,000 files".
func Count(n int, one, many string) string { return units.Count(n, one, many) }

// Number writes a count with its thousands apart: "2,000".
func Number(n int64) string { return units.Number(n) }
