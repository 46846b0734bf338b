package toolset

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Service is a tool's process that lives on after its call (DESIGN's services).
type Service struct {
	// ID is the process's: one that is started again has another.
	ID        string `json:"id"`
	ChatID    string `json:"chat_id"`
	ToolID    string `json:"tool_id"`
	ToolsetID string `json:"toolset_id"`
	// Revision is the toolset's that its code is of.
	Revision string `json:"-"`
	// Workspace is the folder that it works in, as a path without links.
	Workspace string `json:"-"`
	// Ports are those that its results named, the latest first. No other is
	// reached.
	Ports []int `json:"ports"`
	// Calls are those that it served, the latest first, bounded.
	Calls []ServiceCall `json:"calls"`
	// Since is when it was started, Used when it was last called or reached.
	Since time.Time `json:"since"`
	Used  time.Time `json:"used"`
	// Own tells whether it is alone in its network; where it isn't, other
	// programs of the machine reach its ports.
	Own bool `json:"own_network"`
	// Hosts are those of the network that its toolset was granted.
	Hosts []string `json:"-"`
	// Ended says when and why it ended; nil is that it runs.
	Ended *ServiceEnd `json:"ended,omitempty"`
}

// ServiceCall is a call that a service served. Port is the one that its result
// named; 0 is none.
type ServiceCall struct {
	CallID string `json:"call_id"`
	Port   int    `json:"port,omitempty"`
}

// ServiceEnd is how a service ended.
type ServiceEnd struct {
	At time.Time `json:"at"`
	// Why is a clause such as "it ran without being used for 30m0s".
	Why string `json:"why"`
}

// Port is the port of a call; 0 is none.
func (s *Service) Port(callID string) int {
	for _, c := range s.Calls {
		if c.CallID == callID {
			return c.Port
		}
	}
	return 0
}

// ServicePort finds in the data of a result the port that a service says it
// listens on: a field port, else that of an address of this machine in a field url.
func ServicePort(data json.RawMessage) (int, bool) {
	var named struct {
		Port json.RawMessage `json:"port"`
		URL  json.RawMessage `json:"url"`
	}
	if json.Unmarshal(data, &named) != nil {
		return 0, false
	}
	text := strings.Trim(string(named.Port), `"`) // authors give texts, too
	if port, ok := portNumber(text); ok {
		return port, true
	}
	var address string
	if len(named.URL) == 0 || json.Unmarshal(named.URL, &address) != nil {
		return 0, false
	}
	u, ok := LocalAddress(address)
	if !ok {
		return 0, false
	}
	return portNumber(u.Port())
}

func portNumber(text string) (int, bool) {
	port, err := strconv.ParseUint(text, 10, 16)
	return int(port), err == nil && port > 0
}

// LocalAddress reads an http address of this machine, by its name or a loopback
// address, that names a port.
func LocalAddress(address string) (*url.URL, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Port() == "" {
		return nil, false
	}
	host := strings.ToLower(u.Hostname())
	ip, err := netip.ParseAddr(host)
	if host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return nil, false
	}
	return u, true
}
