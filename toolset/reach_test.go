package toolset

import "testing"

// The sandbox decides what a tool of a toolset reaches, whatever its author declares. What no
// sandbox limits is as declared, and is not believed where content could leave the machine.
func TestReach(t *testing.T) {
	t.Parallel()
	closed := Annotations{ReadOnly: true}
	builtin, python := Tool{ID: "x"}, Tool{ID: "s:x", ToolsetID: "s"}
	with := func(t Tool, a Annotations) Tool { t.Annotations = a; return t }
	for name, c := range map[string]struct {
		tool     Tool
		policy   *Policy
		text     string
		network  Network
		writes   bool
		sendsOut bool
	}{
		"builtin that reads":        {with(builtin, closed), nil, "read the chat's workspace only", NetworkNone, false, false},
		"builtin that writes":       {with(builtin, Annotations{Destructive: true}), nil, "read and write the chat's workspace only", NetworkNone, true, false},
		"builtin of the web":        {with(builtin, Annotations{ReadOnly: true, OpenWorld: true}), nil, "connect to any host", NetworkAll, false, true},
		"command with the network":  {with(builtin, UnknownAnnotations()), nil, "read and write the chat's workspace, connect to any host", NetworkAll, true, true},
		"sandbox, nothing declared": {with(python, UnknownAnnotations()), &Policy{}, "read and write the chat's workspace only", NetworkNone, true, false},
		"sandbox, read-only":        {with(python, closed), &Policy{ReadOnly: true}, "read the chat's workspace only", NetworkNone, false, false},
		"sandbox, declared closed": {
			with(python, closed), &Policy{ReadOnly: true, Network: NetworkHosts, Hosts: []string{"a.example", "b.example"}},
			"read the chat's workspace, connect to a.example, b.example", NetworkHosts, false, true,
		},
		"sandbox with a folder": {with(python, UnknownAnnotations()), &Policy{Readable: []string{"~/data"}}, "read and write the chat's workspace, read ~/data", NetworkNone, true, false},
		"sandbox that may be missing": {
			with(python, UnknownAnnotations()), &Policy{Least: LevelNone},
			"read and write the chat's workspace only; without limits where this system has no sandbox", NetworkNone, true, true,
		},
		"server, nothing declared": {
			with(python, UnknownAnnotations()), nil,
			"change or remove things and connect to other systems, as its server declares; fettle does not check this", NetworkAll, true, true,
		},
		"server, declared closed":        {with(python, closed), nil, "read, as its server declares; fettle does not check this", NetworkNone, false, true},
		"server with the whole network":  {with(python, closed), &Policy{Network: NetworkAll}, "read, as its server declares; fettle does not check this", NetworkNone, false, true},
		"server, declared to add things": {with(python, Annotations{}), nil, "add things, as its server declares; fettle does not check this", NetworkNone, true, true},
	} {
		r := ReachOf(c.tool, c.policy)
		if r.Text != c.text || r.Network != c.network || r.Writes != c.writes || r.SendsOut() != c.sendsOut || r.Outside() != (c.network != NetworkNone) {
			t.Errorf("%s: %+v, sends out: %t", name, r, r.SendsOut())
		}
		if r.Destructive && !r.Writes {
			t.Errorf("%s: destructive without writing", name)
		}
	}
}
