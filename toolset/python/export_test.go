package python

// EnvironmentKey is environmentKey, for tests.
var EnvironmentKey = environmentKey

// PythonIn is an environment's interpreter.
var PythonIn = pythonIn
