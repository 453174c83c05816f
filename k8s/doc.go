// Package k8s is the only user of client-go. It carries out, on one API
// server, the few requests that a review, an apply and a rollout are made of:
// discovery, get, list, server-side apply (dry or real), delete and watch.
//
// Objects go over the wire as the canonical JSON of package preview and come
// back through its decoder, so that integers keep their exact digits (client-go
// itself makes doubles of some). Whatever the API server refuses comes back as
// a [preview.Refusal], whose message is the server's own and untrusted.
package k8s
