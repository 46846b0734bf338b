package kv

import (
	"os"
	"strings"
	"sync"
)

// bootID names this run of the system; it is empty where the system doesn't tell.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})
