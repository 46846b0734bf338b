package commands

import (
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
)

// version is set by the linker in releases.
var version = ""

type versionOptions struct{ output string }

type versionJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Revision      string `json:"revision,omitempty"`
	Go            string `json:"go"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
}

func newVersion(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version",
		UsageText: "fettle version\nfettle version -o json",
		Flags:     []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			if err := noArguments(c, "fettle version"); err != nil {
				return err
			}
			return runVersion(rt, versionOptions{c.String("output")})
		},
	}
}

func runVersion(rt *runtime, o versionOptions) error {
	v := buildVersion()
	switch o.output {
	case "json":
		return printJSON(rt, v)
	case "", "text":
		text := "fettle " + v.Version
		if v.Revision != "" {
			text += " (" + v.Revision + ")"
		}
		rt.streams.Out.Printf("%s\n", text)
		return nil
	}
	return checkOutput(o.output, "fettle version")
}

// buildVersion is what the linker set, else what the go command knew.
func buildVersion() versionJSON {
	v := versionJSON{
		SchemaVersion: outputVersion, Version: version,
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
