package python

// EnvironmentKey is environmentKey, for tests.
var EnvironmentKey = environmentKey
