//go:build unix

package sandbox

// standardPath is where programs are looked for.
func standardPath() []string {
	return []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
}

// platformEnv are the variables that programs of this system need beyond those
// that all need.
func platformEnv(string) []string { return nil }
