package paths

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		sys  System
		want Dirs
	}{
		{"linux defaults", System{OS: "linux", WorkDir: "/w", Env: env("HOME", "/home/ann")}, Dirs{
			Data: "/home/ann/.local/share/fettle", Config: "/home/ann/.config/fettle",
			State: "/home/ann/.local/state/fettle", Cache: "/home/ann/.cache/fettle",
			Runtime: "/home/ann/.local/share/fettle/run", ConfigFile: "/home/ann/.config/fettle/config.yaml",
			Home: "/home/ann",
		}},
		{"macOS uses the same names", System{OS: "darwin", Env: env("HOME", "/Users/ann")}, Dirs{
			Data: "/Users/ann/.local/share/fettle", Config: "/Users/ann/.config/fettle",
			State: "/Users/ann/.local/state/fettle", Cache: "/Users/ann/.cache/fettle",
			Runtime: "/Users/ann/.local/share/fettle/run", ConfigFile: "/Users/ann/.config/fettle/config.yaml",
			Home: "/Users/ann",
		}},
		{"XDG variables win, a relative one is ignored", System{OS: "darwin", Env: env(
			"HOME", "/Users/ann", "XDG_DATA_HOME", "/d", "XDG_CONFIG_HOME", "/c/", "XDG_STATE_HOME", "state",
			"XDG_CACHE_HOME", "", "XDG_RUNTIME_DIR", "/run/user/1")}, Dirs{
			Data: "/d/fettle", Config: "/c/fettle", State: "/Users/ann/.local/state/fettle",
			Cache: "/Users/ann/.cache/fettle", Runtime: "/run/user/1/fettle", ConfigFile: "/c/fettle/config.yaml",
			Home: "/Users/ann",
		}},
		{"FETTLE_DATA and FETTLE_CONFIG need no home", System{OS: "linux", WorkDir: "/w", Env: env(
			"FETTLE_DATA", "data", "FETTLE_CONFIG", "/etc/fettle")}, Dirs{
			Data: "/w/data", State: "/w/data/state", Cache: "/w/data/cache", Runtime: "/w/data/run",
			Config: "/etc/fettle", ConfigFile: "/etc/fettle/config.yaml",
		}},
		{"FETTLE_CONFIG may name the file", System{OS: "linux", WorkDir: "/w", Env: env(
			"HOME", "/h", "FETTLE_DATA", "~/d", "FETTLE_CONFIG", "conf/my.YAML")}, Dirs{
			Data: "/h/d", State: "/h/d/state", Cache: "/h/d/cache", Runtime: "/h/d/run",
			Config: "/w/conf", ConfigFile: "/w/conf/my.YAML", ConfigNamed: true, Home: "/h",
		}},
		{"windows defaults", System{OS: "windows", Env: env("USERPROFILE", `C:\Users\ann`,
			"APPDATA", `C:\Users\ann\AppData\Roaming`, "LOCALAPPDATA", `D:\Local`)}, Dirs{
			Data: `D:\Local\fettle\data`, State: `D:\Local\fettle\state`, Cache: `D:\Local\fettle\cache`,
			Runtime: `D:\Local\fettle\data\run`, Config: `C:\Users\ann\AppData\Roaming\fettle`,
			ConfigFile: `C:\Users\ann\AppData\Roaming\fettle\config.yaml`, Home: `C:\Users\ann`,
		}},
		{"windows with nothing but a profile, on a share", System{OS: "windows", WorkDir: `C:\w`, Env: env(
			"USERPROFILE", `\\srv\homes\ann`, "FETTLE_CONFIG", `conf/x.yml`)}, Dirs{
			Data:    `\\srv\homes\ann\AppData\Local\fettle\data`,
			State:   `\\srv\homes\ann\AppData\Local\fettle\state`,
			Cache:   `\\srv\homes\ann\AppData\Local\fettle\cache`,
			Runtime: `\\srv\homes\ann\AppData\Local\fettle\data\run`,
			Config:  `C:\w\conf`, ConfigFile: `C:\w\conf\x.yml`, ConfigNamed: true, Home: `\\srv\homes\ann`,
		}},
		{"windows ignores a path of another system", System{OS: "windows", Env: env(
			"HOME", "/c/Users/ann", "USERPROFILE", `C:\Users\ann`, "XDG_DATA_HOME", "/c/data", "XDG_CONFIG_HOME", `E:/conf`)}, Dirs{
			Data:    `C:\Users\ann\AppData\Local\fettle\data`,
			State:   `C:\Users\ann\AppData\Local\fettle\state`,
			Cache:   `C:\Users\ann\AppData\Local\fettle\cache`,
			Runtime: `C:\Users\ann\AppData\Local\fettle\data\run`,
			Config:  `E:\conf\fettle`, ConfigFile: `E:\conf\fettle\config.yaml`, Home: `C:\Users\ann`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Resolve(tt.sys)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Resolve (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveWithoutHomeSaysWhatToSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, wantVar string
		sys           System
	}{
		{"no environment at all", "HOME", System{OS: "linux"}},
		{"a relative home is none", "HOME", System{OS: "linux", Env: env("HOME", "here")}},
		{"data alone is not enough", "FETTLE_CONFIG", System{OS: "linux", Env: env("FETTLE_DATA", "/d")}},
		{"windows", "LOCALAPPDATA", System{OS: "windows", Env: env("FETTLE_CONFIG", `C:\c`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := Resolve(tt.sys)
			if !errors.Is(err, ErrNoHome) || !strings.Contains(err.Error(), tt.wantVar) {
				t.Errorf("Resolve = %v, %v; want ErrNoHome that names %s", d, err, tt.wantVar)
			}
			if d != (Dirs{}) {
				t.Errorf("an error came with places: %+v", d)
			}
		})
	}
}

// Every name that Resolve makes of absolute bases is absolute and clean,
// whatever the variables hold.
func FuzzResolve(f *testing.F) {
	f.Add("linux", "/home/a", "/d", "c.yaml")
	f.Add("windows", `C:\a`, `\\s\h`, `..\..`)
	f.Add("windows", `//`, `C:`, "~")
	f.Fuzz(func(t *testing.T, goos, home, data, conf string) {
		work := "/w"
		if goos == "windows" {
			work = `C:\w`
		}
		s := System{OS: goos, WorkDir: work, Env: env("HOME", home, "USERPROFILE", home, "FETTLE_DATA", data, "FETTLE_CONFIG", conf)}
		d, err := Resolve(s)
		if err != nil {
			return
		}
		for _, p := range []string{d.Data, d.Config, d.State, d.Runtime, d.Cache, d.ConfigFile} {
			if !s.isAbs(p) {
				t.Errorf("%q is not absolute (of %q, %q, %q)", p, home, data, conf)
			}
			if p != s.join(p) {
				t.Errorf("%q is not clean", p)
			}
		}
	})
}
