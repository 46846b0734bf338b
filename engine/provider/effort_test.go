package provider

import "testing"

func TestEffortWithinLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked  Effort
		levels []Effort
		want   Effort
	}{
		{"", []Effort{EffortLow}, ""},
		{EffortHigh, nil, EffortHigh},
		{EffortHigh, []Effort{EffortLow, EffortHigh}, EffortHigh},
		{EffortMax, []Effort{EffortNone, EffortLow, EffortMedium, EffortHigh, EffortXHigh}, EffortXHigh},
		{EffortMinimal, []Effort{EffortNone, EffortLow, EffortHigh}, EffortLow},
		{EffortNone, []Effort{EffortMinimal, EffortLow}, EffortMinimal},
		{EffortMedium, []Effort{EffortLow, EffortHigh}, EffortLow},
		{EffortLow, []Effort{EffortNone}, EffortNone},
		{EffortLow, []Effort{"default"}, EffortLow},
		{EffortHigh, []Effort{"default", EffortNone}, EffortNone},
	} {
		if got := c.asked.Within(LevelsOf(c.levels...)); got != c.want {
			t.Errorf("%q within %v is %q, want %q", c.asked, c.levels, got, c.want)
		}
	}
}

func TestParseEffort(t *testing.T) {
	t.Parallel()
	for _, e := range Efforts() {
		if got, err := ParseEffort(string(e)); err != nil || got != e {
			t.Errorf("%s is read as %q, %v", e, got, err)
		}
	}
	for _, s := range []string{"", "High", "much"} {
		if _, err := ParseEffort(s); err == nil {
			t.Errorf("%q is read as a level", s)
		}
	}
}

func TestParamsOver(t *testing.T) {
	t.Parallel()
	zero, one := 0.0, 1.0
	got := Params{Temperature: &zero}.Over(Params{Effort: EffortLow, Temperature: &one, MaxTokens: 5})
	if got.Effort != EffortLow || *got.Temperature != 0 || got.MaxTokens != 5 {
		t.Errorf("it is %+v", got)
	}
}
