package engine

// Derive lets tests forge plans that hold together.
var Derive = derive
