package workbench

import (
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Build is the build that runs, as `version --output json` prints it.
type Build struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Revision      string `json:"revision,omitempty"`
	Go            string `json:"go"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
}

// Build is what the linker set, else what the go command knew.
func (rt *Runtime) Build() Build {
	v := Build{
		SchemaVersion: OutputVersion, Version: rt.Release,
		Go: goruntime.Version(), OS: goruntime.GOOS, Arch: goruntime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v.Revision = s.Value[:12]
		}
	}
	return v
}

// BuiltAt is when the commit was made that this program was built of; zero
// where the go command didn't know.
func BuiltAt() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, _ := time.Parse(time.RFC3339, s.Value) // zero if it is none
			return at
		}
	}
	return time.Time{}
}
