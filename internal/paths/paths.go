package paths

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// app is the name of fettle's folder in each base directory.
const app = "fettle"

// ConfigName is the name of the configuration file in Dirs.Config.
const ConfigName = "config.yaml"

// System is what the places depend on.
type System struct {
	OS      string                      // as in runtime.GOOS
	WorkDir string                      // what a relative FETTLE_DATA or FETTLE_CONFIG is relative to
	Env     func(string) (string, bool) // os.LookupEnv
}

// Dirs are the places, all absolute where System.WorkDir is.
type Dirs struct {
	Data, Config, State, Runtime, Cache string
	// ConfigFile is Config/config.yaml, or the file that FETTLE_CONFIG names.
	ConfigFile string
	// ConfigNamed tells that FETTLE_CONFIG named the file itself, so that its
	// absence is a mistake.
	ConfigNamed bool
	// Home is the user's home; empty where nobody knows it.
	Home string
}

// ErrNoHome is the cause where a place depends on a home that isn't set.
var ErrNoHome = errors.New("no home directory")

// Resolve computes the places.
func Resolve(s System) (Dirs, error) {
	d := Dirs{Home: s.home()}
	if err := s.resolveData(&d); err != nil {
		return Dirs{}, err
	}
	if err := s.resolveConfig(&d); err != nil {
		return Dirs{}, err
	}
	d.Runtime = s.join(d.Data, "run")
	if dir := s.absolute("XDG_RUNTIME_DIR"); dir != "" {
		d.Runtime = s.join(dir, app)
	}
	return d, nil
}

func (s System) resolveData(d *Dirs) error {
	if v := s.get("FETTLE_DATA"); v != "" {
		d.Data = s.named(v, d.Home)
		d.State, d.Cache = s.join(d.Data, "state"), s.join(d.Data, "cache")
		return nil
	}
	var err error
	for _, place := range []struct {
		dst            *string
		xdg, unix, win string
	}{
		{&d.Data, "XDG_DATA_HOME", ".local/share", "data"},
		{&d.State, "XDG_STATE_HOME", ".local/state", "state"},
		{&d.Cache, "XDG_CACHE_HOME", ".cache", "cache"},
	} {
		*place.dst, err = s.base(place.xdg, place.unix, "LOCALAPPDATA", `AppData\Local`, place.win)
		if err != nil {
			return fmt.Errorf("find the data directory: %w", err)
		}
	}
	return nil
}

func (s System) resolveConfig(d *Dirs) error {
	if v := s.get("FETTLE_CONFIG"); v != "" {
		at := s.named(v, d.Home)
		if ext := strings.ToLower(path.Ext(at)); ext == ".yaml" || ext == ".yml" {
			d.ConfigFile, d.ConfigNamed = at, true
			d.Config = s.dir(at)
			return nil
		}
		d.Config = at
	} else {
		var err error
		if d.Config, err = s.base("XDG_CONFIG_HOME", ".config", "APPDATA", `AppData\Roaming`, ""); err != nil {
			return fmt.Errorf("find the configuration directory: %w", err)
		}
	}
	d.ConfigFile = s.join(d.Config, ConfigName)
	return nil
}

// base is fettle's folder in one base directory: the XDG variable's, else the
// platform's. sub is a folder in it, on Windows, where several kinds of data
// share one base.
func (s System) base(xdg, unix, winVar, winHome, sub string) (string, error) {
	if dir := s.absolute(xdg); dir != "" {
		return s.join(dir, app), nil
	}
	home := s.home()
	if !s.windows() {
		if home == "" {
			return "", fmt.Errorf("%w: set HOME, or FETTLE_DATA and FETTLE_CONFIG", ErrNoHome)
		}
		return s.join(home, unix, app), nil
	}
	dir := s.absolute(winVar)
	if dir == "" && home != "" {
		dir = s.join(home, winHome)
	}
	if dir == "" {
		return "", fmt.Errorf("%w: set %s, or FETTLE_DATA and FETTLE_CONFIG", ErrNoHome, winVar)
	}
	return s.join(dir, app, sub), nil
}

func (s System) home() string {
	if s.windows() {
		if dir := s.absolute("USERPROFILE"); dir != "" {
			return dir
		}
	}
	return s.absolute("HOME")
}

// named is a path that a person gave: a leading ~ means the home, since not
// every place where a variable can be set expands it.
func (s System) named(v, home string) string {
	if home != "" && (v == "~" || strings.HasPrefix(v, "~/") || s.windows() && strings.HasPrefix(v, `~\`)) {
		return s.join(home, strings.TrimLeft(v[1:], `/\`))
	}
	if s.isAbs(v) || s.WorkDir == "" {
		return s.join(v)
	}
	return s.join(s.WorkDir, v)
}

// absolute is a variable's value if it is an absolute path, cleaned.
func (s System) absolute(name string) string {
	v := s.get(name)
	if !s.isAbs(v) {
		return ""
	}
	return s.join(v)
}

func (s System) get(name string) string {
	if s.Env == nil {
		return ""
	}
	v, _ := s.Env(name)
	return v
}

func (s System) windows() bool { return s.OS == "windows" }
