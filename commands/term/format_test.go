package term

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("east", 9*3600)
	now := time.Date(2026, 3, 15, 12, 0, 0, 0, zone)
	tests := []struct {
		before time.Duration
		want   string
	}{
		{-2 * time.Hour, "2026-03-15"}, {-30 * time.Second, "just now"}, {0, "just now"}, {4 * time.Second, "just now"},
		{40 * time.Second, "40 s ago"}, {time.Minute, "1 minute ago"}, {3*time.Minute + 59*time.Second, "3 minutes ago"},
		{59 * time.Minute, "59 minutes ago"}, {time.Hour, "1 hour ago"}, {23 * time.Hour, "23 hours ago"},
		{24 * time.Hour, "yesterday"}, {36*time.Hour + time.Minute, "2 days ago"}, {6 * 24 * time.Hour, "6 days ago"},
		{7 * 24 * time.Hour, "2026-03-08"}, {400 * 24 * time.Hour, "2025-02-08"},
	}
	for _, tt := range tests {
		// The moment's own zone must not matter.
		if got := Ago(now, now.Add(-tt.before).UTC()); got != tt.want {
			t.Errorf("%v before: %q, want %q", tt.before, got, tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 812: "812 bytes", 1000: "1.0 KB", 1234: "1.2 KB", 9940: "9.9 KB", 9960: "10 KB",
		64000: "64 KB", 999_499: "999 KB", 999_500: "1.0 MB", 50_000_000: "50 MB", 1 << 62: "4.6 EB", -2500: "-2.5 KB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 ms", 0: "0 ms", 320 * time.Millisecond: "320 ms", 999900 * time.Microsecond: "999 ms",
		time.Second: "1 s", 1250 * time.Millisecond: "1.2 s", 9990 * time.Millisecond: "9.9 s", 41 * time.Second: "41 s",
		60 * time.Second: "1 min", 125 * time.Second: "2 min 5 s", time.Hour: "1 h", 64 * time.Minute: "1 h 4 min",
		26 * time.Hour: "1 d 2 h", 48 * time.Hour: "2 d",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) is %q, want %q", d, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0 replies", 1: "1 reply", 2: "2 replies", 999: "999 replies", 2000: "2,000 replies", 1234567: "1,234,567 replies",
		-5: "-5 replies", -1000: "-1,000 replies",
	} {
		if got := Count(n, "reply", "replies"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestCutting(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in    string
		cells       int
		end, middle string
	}{
		{"fits", "abc", 3, "abc", "abc"},
		{"too long", "abcdefgh", 5, "abcd…", "ab…gh"},
		{"even", "abcdefgh", 4, "abc…", "ab…h"},
		{"one column", "abcdef", 1, "…", "…"},
		{"no column", "abc", 0, "", ""},
		{"wide runes are never halved", "日本語日本語", 6, "日本…", "日…語"},
		{"marks stay with their letter", "e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301…", "e\u0301…e\u0301"},
		{"no space before the sign", "ab cdef", 4, "ab…", "ab…f"},
	}
	for _, tt := range tests {
		if got := CutEnd(tt.in, tt.cells); got != tt.end {
			t.Errorf("%s: CutEnd is %q, want %q", tt.name, got, tt.end)
		}
		if got := CutMiddle(tt.in, tt.cells); got != tt.middle {
			t.Errorf("%s: CutMiddle is %q, want %q", tt.name, got, tt.middle)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "e\u0301", "日", "🙂", "👩\u200d🚀", "🇩🇪", " "})).Draw(t, "s"), "")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		for _, got := range []string{CutEnd(s, n), CutMiddle(s, n)} {
			if Cells(got) > n {
				t.Fatalf("%q takes %d columns of %d", got, Cells(got), n)
			}
			if Cells(s) <= n && got != s {
				t.Fatalf("%q fits %d and became %q", s, n, got)
			}
		}
	})
}
