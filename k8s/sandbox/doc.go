// Package sandbox starts and stops the embedded control plane: a real etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler on loopback
// addresses, with one node whose pods kwok plays. The control plane itself is
// the program of cmd/sandbox; this package finds it, starts it and waits until
// pods can run.
//
// Start gives a control plane that ends with the calling process, whatever ends
// that. Up, Down and Status manage the one that a user keeps between commands.
package sandbox
