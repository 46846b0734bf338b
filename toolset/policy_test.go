package toolset

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// native makes paths of this system out of slashed ones.
func native(path string) string {
	if runtime.GOOS == "windows" && strings.HasPrefix(path, "/") {
		path = "C:" + path
	}
	return filepath.FromSlash(path)
}

func TestPlace(t *testing.T) {
	t.Parallel()
	p := Policy{
		Workspace: native("/ws"), Readable: []string{native("/lib/py"), native("/ws/vendor")},
		Writable: []string{native("/cache"), native("/lib/py/own")},
	}
	for _, c := range []struct {
		name, dir, rel string
		writable       bool
	}{
		{"a/b.txt", "/ws", "a/b.txt", true},
		{".", "/ws", ".", true},
		{"/ws", "/ws", ".", true},
		{"/ws/a/../b", "/ws", "b", true},
		{"/ws/vendor/x", "/ws", "vendor/x", true},
		{"/lib/py/os.py", "/lib/py", "os.py", false},
		{"/lib/py/own/x", "/lib/py/own", "x", true},
		{"/cache/x", "/cache", "x", true},
		{"/wsx", "", "", false},
		{"..", "", "", false},
		{"a/../../etc/passwd", "", "", false},
		{"/etc/passwd", "", "", false},
	} {
		name := c.name
		if strings.HasPrefix(name, "/") {
			name = native(name)
		}
		got, ok := p.Place(filepath.FromSlash(name))
		if ok != (c.dir != "") {
			t.Errorf("%s: %v %v", c.name, got, ok)
		}
		if ok && (got != Place{native(c.dir), filepath.FromSlash(c.rel), c.writable}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	p.ReadOnly = true
	if got, ok := p.Place("a"); !ok || got.Writable {
		t.Errorf("read-only: %+v %v", got, ok)
	}
	if got, ok := (Policy{}).Place("a"); ok {
		t.Errorf("nothing granted: %+v", got)
	}
}

func TestPolicyCheck(t *testing.T) {
	t.Parallel()
	good := Policy{
		Workspace: native("/ws"), Readable: []string{native("/lib/py")}, Env: []string{"API_KEY=x=y", "region="},
		Network: NetworkHosts, Hosts: []string{"api.example.com", "*.example.com:8443", "10.0.0.1:80", "localhost:3000"},
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	if err := (Policy{}).Check(); err != nil {
		t.Error(err)
	}
	for says, p := range map[string]Policy{
		"absolute path":          {Workspace: "ws"},
		"says . and ..":          {Readable: []string{native("/a") + string(filepath.Separator) + ".." + string(filepath.Separator) + "b"}},
		"whole file system":      {Writable: []string{native("/")}},
		"has no value":           {Env: []string{"A"}},
		"NUL byte":               {Env: []string{"A=\x00"}},
		"begin with LD_":         {Env: []string{"LD_PRELOAD=x"}},
		"want letters":           {Env: []string{"A B=x"}},
		"hosts without a host":   {Network: NetworkHosts},
		"network isn't hosts":    {Network: NetworkAll, Hosts: []string{"a.example"}},
		`network "some"`:         {Network: "some"},
		"want a name such as":    {Network: NetworkHosts, Hosts: []string{"*"}},
		`"99999" is no port`:     {Network: NetworkHosts, Hosts: []string{"a.example:99999"}},
		"https://a.example/path": {Network: NetworkHosts, Hosts: []string{"https://a.example/path"}},
	} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	for _, dir := range []string{"/proc", "/proc/self", "/sys/kernel", "/dev", "/dev/sda"} {
		if err := (Policy{Readable: []string{dir}}).Check(); err == nil {
			t.Errorf("%s was granted", dir)
		}
	}
}

func TestCheckEnvName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"API_KEY": true, "api_key": true, "_X": true, "A1": true, "TZ": true, "PYX": true,
		"": false, "1A": false, "A-B": false, "A=B": false, "Ä": false, "A\n": false,
		"LD_PRELOAD": false, "ld_preload": false, "DYLD_INSERT_LIBRARIES": false, "PYTHONPATH": false, "PYTHONSTARTUP": false,
		"NODE_OPTIONS": false, "BASH_ENV": false, "ENV": false, "GIT_SSH_COMMAND": false, "PATH": false, "Path": false,
		"BASH_FUNC_x": false, "HTTPS_PROXY": false, "https_proxy": false, "HOME": false, "IFS": false,
	} {
		if err := CheckEnvName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAllowsHost(t *testing.T) {
	t.Parallel()
	p := Policy{Network: NetworkHosts, Hosts: []string{"api.example.com", "*.data.example", "Odd.Example:8080", "10.0.0.1"}}
	for _, c := range []struct {
		host string
		port int
		ok   bool
	}{
		{"api.example.com", 443, true}, {"api.example.com", 80, true}, {"API.example.COM.", 443, true},
		{"api.example.com", 22, false}, {"example.com", 443, false}, {"xapi.example.com", 443, false}, {"api.example.com.evil.example", 443, false},
		{"a.data.example", 443, true}, {"a.b.data.example", 443, true}, {"data.example", 443, false}, {"xdata.example", 443, false}, {".data.example", 443, false},
		{"odd.example", 8080, true}, {"odd.example", 443, false}, {"10.0.0.1", 80, true}, {"10.0.0.2", 80, false}, {"", 443, false},
	} {
		if got := p.AllowsHost(c.host, c.port); got != c.ok {
			t.Errorf("%s:%d: %v", c.host, c.port, got)
		}
	}
	if (Policy{}).AllowsHost("api.example.com", 443) || !(Policy{Network: NetworkAll}).AllowsHost("any.example", 25) {
		t.Error("none and all")
	}
}

// A pattern that passes the check never allows a host that isn't, or is below,
// what it names.
func FuzzAllowsHost(f *testing.F) {
	f.Add("*.example.com", "a.example.com", 443)
	f.Add("api.example.com:8080", "api.example.com", 8080)
	f.Add("[::1]:80", "::1", 80)
	f.Fuzz(func(t *testing.T, pattern, host string, port int) {
		if CheckHost(pattern) != nil {
			return
		}
		if !(Policy{Network: NetworkHosts, Hosts: []string{pattern}}).AllowsHost(host, port) {
			return
		}
		name, _ := splitHost(strings.ToLower(pattern))
		name = strings.TrimPrefix(name, "*")
		if !strings.HasSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), name) {
			t.Errorf("%q allows %q", pattern, host)
		}
	})
}

func TestLimitsFilled(t *testing.T) {
	t.Parallel()
	if got := (Limits{}).Filled(); got != DefaultLimits() {
		t.Errorf("%+v", got)
	}
	got := Limits{Time: NoLimit, Memory: 5, Processes: NoLimit}.Filled()
	want := DefaultLimits()
	want.Time, want.Memory, want.Processes = NoLimit, 5, NoLimit
	if got != want {
		t.Errorf("%+v", got)
	}
}

func TestPolicySurvivesJSON(t *testing.T) {
	t.Parallel()
	p := Policy{Workspace: "/ws", Least: LevelFull, Network: NetworkHosts, Hosts: []string{"a.example"}, Limits: Limits{Time: NoLimit, Memory: 1}}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Policy
	if err := json.Unmarshal(data, &back); err != nil || back.Limits != p.Limits || back.Least != p.Least || back.Most != LevelUnset {
		t.Errorf("%s: %+v %v", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"least":"fully"}`), &back); err == nil {
		t.Error("an unknown level was read")
	}
}

func TestExitInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		exit Exit
		want string
	}{
		{Exit{Cause: Exited, Code: 3}, "exit status 3"},
		{Exit{Cause: Signalled, Code: -1, Signal: "SIGSEGV"}, "ended by SIGSEGV"},
		{Exit{Cause: TimeOver, Detail: "it took longer than " + time.Minute.String()}, "it took longer than 1m0s"},
		{Exit{Cause: Lost}, "lost"},
	} {
		if got := c.exit.String(); got != c.want {
			t.Errorf("%+v: %q", c.exit, got)
		}
	}
	out := Output{Head: []byte("ab"), Tail: []byte("yz"), Total: 26}
	if out.Dropped() != 22 || out.String() != "ab\n[22 bytes left out]\nyz" {
		t.Errorf("%d %q", out.Dropped(), out)
	}
	if out = (Output{Head: []byte("ab"), Tail: []byte("c"), Total: 3}); out.String() != "abc" {
		t.Errorf("%q", out)
	}
}

// A variable that configures fettle is refused in any letter case, also for servers of the
// user's own.
func TestCheckOwnEnv(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"FETTLE_DATA": false, "fettle_config": false, "FETTLE_": false, "FETTLE": true, "MY_FETTLE_DATA": true} {
		if err := CheckOwnEnv(name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if err := (Policy{Env: []string{name + "=x"}}).Check(); (err == nil) != ok {
			t.Errorf("a policy with %s: %v", name, err)
		}
	}
}
