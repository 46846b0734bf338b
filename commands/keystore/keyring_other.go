//go:build darwin || windows

package keystore

// noKeyring has no reason: the keychain and the credential manager are always
// there, and may still refuse.
func noKeyring(func(string) (string, bool)) string { return "" }
