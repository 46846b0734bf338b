package toolset_test

import (
	"encoding/json"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

var servicePorts = []struct {
	data string
	port int
}{
	{`{"port": 8000}`, 8000},
	{`{"port": "8000"}`, 8000},
	{`{"url": "http://127.0.0.1:8123/app?x=1"}`, 8123},
	{`{"url": "http://localhost:8123"}`, 8123},
	{`{"url": "http://[::1]:8123/"}`, 8123},
	{`{"port": 81, "url": "http://localhost:8123"}`, 81},
	{`{"url": "http://127.0.0.1:8123@example.org:80/"}`, 0},
	{`{"url": "http://localhost.example.org:80/"}`, 0},
	{`{"url": "https://localhost:8123"}`, 0},
	{`{"url": "http://localhost"}`, 0},
	{`{"url": ["http://localhost:1"]}`, 0},
	{`{"port": 0}`, 0},
	{`{"port": 65536}`, 0},
	{`{"port": -1}`, 0},
	{`{"port": 80.5}`, 0},
	{`{"port": true}`, 0},
	{`{}`, 0},
	{`[8000]`, 0},
	{`null`, 0},
	{``, 0},
}

func TestThePortOfAResult(t *testing.T) {
	t.Parallel()
	for _, c := range servicePorts {
		if port, ok := toolset.ServicePort(json.RawMessage(c.data)); port != c.port || ok != (c.port > 0) {
			t.Errorf("%s: %d, %v, want %d", c.data, port, ok, c.port)
		}
	}
}

func FuzzServicePort(f *testing.F) {
	for _, c := range servicePorts {
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if port, ok := toolset.ServicePort(data); ok != (port > 0) || port < 0 || port > 65535 {
			t.Errorf("%q: %d, %v", data, port, ok)
		}
	})
}
