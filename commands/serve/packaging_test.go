package serve_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

func packaged(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(needtest.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// withoutComments leaves what counts of a file that has comments by #.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// What is handed out beside the program names no flag, setting or file that there
// isn't.
func TestWhatIsPackagedFitsTheProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{}")
	help, _ := w.Run(0, "serve", "--help")
	environment, _ := w.Run(0, "help", "environment")
	flag := regexp.MustCompile(`(?:^|[\s"])(--[a-z][a-z-]+)`)
	for _, name := range []string{"Dockerfile", "compose.yaml", "internal/packaging/fettle.service"} {
		text := packaged(t, name)
		for _, found := range flag.FindAllStringSubmatch(text, -1) {
			ours := []string{"--from", "--chown", "--interval", "--timeout", "--start-period", "--retries", "--user", "--now", "--wait"}
			if f := found[1]; !slices.Contains(ours, f) && !strings.Contains(help, f+" ") {
				t.Errorf("%s has %s, which fettle serve doesn't", name, f)
			}
		}
	}
	for line := range strings.Lines(withoutComments(packaged(t, ".env.example"))) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if name == "" {
			continue
		}
		if !ok || value != "" || !regexp.MustCompile(`\b`+name+`\b`).MatchString(environment) {
			t.Errorf(".env.example has %q, which fettle help environment doesn't, or a value", line)
		}
	}
	release := packaged(t, ".goreleaser.yaml")
	for _, name := range []string{"internal/packaging/fettle.service", "internal/packaging/fettle.socket", ".env.example"} {
		if strings.Count(release, "src: "+name+"\n") != 2 {
			t.Errorf("%s isn't in the archives and in the package", name)
		}
	}
}

// dockerCommand are the words of an instruction in its JSON form, the last of its kind.
func dockerCommand(t *testing.T, instruction string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + instruction + `[^\[\n]*(\[.*\])$`).FindStringSubmatch(packaged(t, "Dockerfile"))
	if found == nil {
		t.Fatalf("the Dockerfile has no %s in the form of a list", instruction)
	}
	var words []string
	if err := yaml.Unmarshal([]byte(found[1]), &words); err != nil {
		t.Fatal(err)
	}
	return words
}

// The image's command serves on the published port and on no other, and its health
// check finds it: both as they stand, but for the port.
func TestTheImageServes(t *testing.T) {
	t.Parallel()
	text := packaged(t, "Dockerfile")
	for _, want := range []string{"USER nonroot\n", "VOLUME /data\n", "FETTLE_DATA=/data ", "EXPOSE 8000 8001\n", "CGO_ENABLED=0", "-X github.com/fettle-cli/fettle/commands.version="} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
	command, check := dockerCommand(t, "CMD"), dockerCommand(t, "HEALTHCHECK")
	if entry := dockerCommand(t, "ENTRYPOINT"); len(entry) != 1 || entry[0] != check[0] || !slices.Contains(command, "0.0.0.0:8000") {
		t.Errorf("%q %q %q", entry, command, check)
	}
	w := newWorld(t, "responses: [{when: \"\", text: Hello.}]")
	command[slices.Index(command, "0.0.0.0:8000")] = "0.0.0.0:0"
	s := w.serve(command[1:]...) // whose last --listen counts
	if s.url != "http://localhost:8000" {
		t.Errorf("it says that it is at %s", s.url)
	}
	if out, _ := w.Run(0, check[1:]...); !strings.Contains(out, "at http://localhost:8000 is ready") {
		t.Errorf("the check says %s", out)
	}
	if out, _ := w.Run(0, append(check[1:], "--print-url")...); out != "http://localhost:8000/#token="+s.token+"\n" {
		t.Errorf("it is at %s", out)
	}
	s.end()
	w.Run(4, check[1:]...)
}

func TestTheComposeFile(t *testing.T) {
	t.Parallel()
	var c struct {
		Services map[string]struct {
			Build, Image, Restart string
			Command               string
			EnvFile               []struct {
				Path     string
				Required bool
			} `yaml:"env_file"`
			Environment     map[string]string
			Ports, Volumes  []string
			DependsOn       []string `yaml:"depends_on"`
			ReadOnly        bool     `yaml:"read_only"`
			Tmpfs           []string
			CapDrop         []string `yaml:"cap_drop"`
			SecurityOpt     []string `yaml:"security_opt"`
			StopGracePeriod string   `yaml:"stop_grace_period"`
		}
		Volumes map[string]any
	}
	in := yaml.NewDecoder(strings.NewReader(packaged(t, "compose.yaml")))
	in.KnownFields(true)
	if err := in.Decode(&c); err != nil {
		t.Fatal(err)
	}
	for name, s := range c.Services {
		for _, v := range s.Volumes {
			volume, _, _ := strings.Cut(v, ":")
			if _, ok := c.Volumes[volume]; !ok {
				t.Errorf("%s uses the volume %s, which isn't there", name, volume)
			}
		}
		for _, on := range s.DependsOn {
			if _, ok := c.Services[on]; !ok {
				t.Errorf("%s depends on %s, which isn't there", name, on)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is published to others than this machine: %s", name, p)
			}
		}
	}
	ours := c.Services["fettle"]
	if ours.Build != "." || len(ours.Ports) != 2 || ours.Environment["OLLAMA_HOST"] != "http://ollama:11434" || ours.EnvFile[0].Path != ".env" {
		t.Errorf("%+v", ours)
	}
}

// The units are what systemd takes, with this program in the place of the one that a
// package installs.
func TestTheUnits(t *testing.T) {
	t.Parallel()
	service := packaged(t, "internal/packaging/fettle.service")
	for _, want := range []string{"Type=notify\n", "ExecStart=/usr/bin/fettle serve ", "TimeoutStopSec=40\n", "WantedBy=default.target\n"} {
		if !strings.Contains(service, want) {
			t.Errorf("the service lacks %q", want)
		}
	}
	if !strings.Contains(packaged(t, "internal/packaging/fettle.socket"), "ListenStream=127.0.0.1:8217\n") {
		t.Error("the socket is elsewhere than fettle serve looks")
	}
	analyze := needtest.Program(t, "systemd-analyze")
	dir := t.TempDir()
	commandtest.Put(t, filepath.Join(dir, "fettle.service"), strings.Replace(service, "/usr/bin/fettle", os.Args[0], 1))
	commandtest.Put(t, filepath.Join(dir, "fettle.socket"), packaged(t, "internal/packaging/fettle.socket"))
	cmd := exec.CommandContext(t.Context(), analyze, "--user", "verify", filepath.Join(dir, "fettle.service"), filepath.Join(dir, "fettle.socket"))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil || strings.Contains(said.String(), "fettle.s") {
		t.Errorf("systemd-analyze: %v\n%s", err, said.String())
	}
}

// A certificate that can't be used is told before anything is begun.
func TestServeRefusesCertificates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "{}")
	one, other := filepath.Join(w.Dir, "one"), filepath.Join(w.Dir, "other")
	for _, name := range []string{one, other} {
		writeCertificate(t, name)
	}
	for what, args := range map[string][]string{
		"another's key":                 {"--tls-cert", one + ".pem", "--tls-key", other + ".key"},
		"the wrong way":                 {"--tls-cert", one + ".key", "--tls-key", one + ".pem"},
		"not there":                     {"--tls-cert", one + ".pem", "--tls-key", one + ".nothing"},
		"a half":                        {"--tls-cert", one + ".pem"},
		"a proxy elsewhere without one": {"--behind", "http://fettle.example.org"},
		"the network":                   {"--listen", "0.0.0.0:0"},
	} {
		args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
		if _, said := w.Run(2, args...); !strings.Contains(said, "try   fettle serve --") || strings.Contains(said, "PRIVATE") {
			t.Errorf("%s: %s", what, said)
		}
	}
	s := w.serve("--tls-cert", one+".pem", "--tls-key", one+".key", "--log", "off")
	if !strings.HasPrefix(s.url, "https://127.0.0.1:") {
		t.Errorf("it is at %s", s.url)
	}
	if out, _ := w.Run(0, "serve", "--check"); !strings.Contains(out, s.url) {
		t.Errorf("the check says %s", out)
	}
	s.end()
	if _, err := os.Stat(fmt.Sprint(w.Dir, "/data/serve.json")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// writeCertificate writes NAME.pem and NAME.key.
func writeCertificate(t *testing.T, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	commandtest.Put(t, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	commandtest.Put(t, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
}
