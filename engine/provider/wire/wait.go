package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxAsked bounds what a Retry-After may say; more is not meant.
const maxAsked = 24 * time.Hour

// RetryAfter reads when a response asks to be asked again: Retry-After in
// seconds or as a date, or OpenAI's retry-after-ms. A response that says that
// too much was asked (429) may tell instead when its limits begin anew. 0 is no
// such wish.
func RetryAfter(resp *http.Response, now time.Time) time.Duration {
	h := resp.Header
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return within(time.Duration(min(ms, float64(maxAsked.Milliseconds())) * float64(time.Millisecond)))
	}
	if d := until(h.Get("Retry-After"), now); d > 0 {
		return d
	}
	if resp.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	return resets(h, now)
}

// limitHeaders are pairs of headers that tell when a limit begins anew and what
// is left of it: Anthropic's, those of OpenAI and many others, Mistral's.
func limitHeaders() [][2]string {
	return [][2]string{
		{"Anthropic-Ratelimit-Requests-Reset", "Anthropic-Ratelimit-Requests-Remaining"},
		{"Anthropic-Ratelimit-Tokens-Reset", "Anthropic-Ratelimit-Tokens-Remaining"},
		{"Anthropic-Ratelimit-Input-Tokens-Reset", "Anthropic-Ratelimit-Input-Tokens-Remaining"},
		{"Anthropic-Ratelimit-Output-Tokens-Reset", "Anthropic-Ratelimit-Output-Tokens-Remaining"},
		{"X-Ratelimit-Reset-Requests", "X-Ratelimit-Remaining-Requests"},
		{"X-Ratelimit-Reset-Tokens", "X-Ratelimit-Remaining-Tokens"},
		{"Ratelimitbysize-Reset", "Ratelimitbysize-Remaining"},
		{"X-Ratelimitbysize-Reset-Minute", "X-Ratelimitbysize-Remaining-Minute"},
		{"X-Ratelimit-Reset", "X-Ratelimit-Remaining"},
		{"Ratelimit-Reset", "Ratelimit-Remaining"},
	}
}

// resets tells when the limits that are used up begin anew: the last of them,
// or the first of all where none says that it is used up. 0 is no telling.
func resets(h http.Header, now time.Time) time.Duration {
	var used, soonest time.Duration
	for _, names := range limitHeaders() {
		d := until(h.Get(names[0]), now)
		if d <= 0 {
			continue
		}
		if soonest == 0 || d < soonest {
			soonest = d
		}
		if strings.TrimSpace(h.Get(names[1])) == "0" {
			used = max(used, d)
		}
	}
	if used > 0 {
		return used
	}
	return soonest
}

// epoch is from when on a number is a time since 1970 and not a wait: thirty
// years of seconds.
const epoch = 1e9

// until reads how long a value asks to wait: seconds, a duration such as 6m0s,
// a date in either form, or seconds or milliseconds since 1970. 0 is none.
func until(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case !(s > 0):
			return 0
		case s >= 1000*epoch:
			return within(time.UnixMilli(int64(min(s, 1e15))).Sub(now))
		case s >= epoch:
			return within(time.Unix(int64(s), 0).Sub(now))
		}
		return within(time.Duration(min(s, maxAsked.Seconds()) * float64(time.Second)))
	}
	if d, err := time.ParseDuration(value); err == nil {
		return within(d)
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return within(at.Sub(now))
	}
	if at, err := http.ParseTime(value); err == nil {
		return within(at.Sub(now))
	}
	return 0
}

func within(d time.Duration) time.Duration { return min(max(d, 0), maxAsked) }
