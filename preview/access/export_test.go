package access

// Essence is essence for the test that holds the table against an API server.
var Essence = essence
