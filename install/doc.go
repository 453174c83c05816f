// Package install applies an approved plan: one door, one order, exactly what
// was reviewed (see [Apply]). It reaches the cluster only through small
// interfaces it declares itself.
package install
