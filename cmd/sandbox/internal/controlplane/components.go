package controlplane

import (
	"fmt"
	"strconv"
)

// nodeName is the name of the cluster's only node.
const nodeName = "sandbox"

// etcdArgs returns the arguments of etcd, which listens on three ports. It runs
// without fsync, because the data does not outlive the process.
func etcdArgs(l layout, p ports) []string {
	clientURL, peerURL := loopbackURL(p.etcd), loopbackURL(p.etcdPeer)
	return []string{
		"--name=sandbox",
		"--data-dir=" + l.etcd(),
		"--unsafe-no-fsync",
		"--log-level=warn",
		"--socket-reuse-port", // see reservePort
		"--listen-client-urls=" + clientURL,
		"--advertise-client-urls=" + clientURL,
		// JSON has its own port: on one for both, gRPC would go through the HTTP server of the
		// Go library, for a quarter more of etcd's processor time.
		"--listen-client-http-urls=" + loopbackURL(p.etcdHTTP),
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=sandbox=" + peerURL,
		// The only member waits up to one election timeout for rivals, while the API
		// server starts. At each heartbeat it wakes up, also when there is nothing to do.
		"--heartbeat-interval=100",
		"--election-timeout=500",
		// Only holders of our certificates may talk to it: without this any
		// local user could read and write the cluster around the API server.
		"--client-cert-auth", "--peer-client-cert-auth",
		"--trusted-ca-file=" + l.cert("ca"), "--peer-trusted-ca-file=" + l.cert("ca"),
		"--cert-file=" + l.cert("etcd"), "--key-file=" + l.key("etcd"),
		"--peer-cert-file=" + l.cert("etcd"), "--peer-key-file=" + l.key("etcd"),
	}
}

func apiserverArgs(l layout, port, etcd int) []string {
	return []string{
		"--etcd-servers=" + loopbackURL(etcd),
		"--etcd-cafile=" + l.cert("ca"),
		"--etcd-certfile=" + l.cert("etcd"),
		"--etcd-keyfile=" + l.key("etcd"),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--permit-port-sharing", // see reservePort
		// A loopback address cannot be an endpoint, and the default is taken
		// from the default route, which may be missing.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + l.cert("apiserver"),
		"--tls-private-key-file=" + l.key("apiserver"),
		"--client-ca-file=" + l.cert("ca"),
		"--token-auth-file=" + l.configFile("tokens.csv"),
		"--enable-bootstrap-token-auth", // as kubeadm has it: who may write Secrets of kube-system joins nodes
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + l.key("service-account"),
		"--service-account-signing-key-file=" + l.key("service-account"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		"--kubelet-certificate-authority=" + l.cert("ca"),
		"--kubelet-preferred-address-types=InternalIP",
		"--egress-selector-config-file=" + l.configFile("egress.yaml"),
		"--audit-policy-file=" + l.configFile("audit-policy.yaml"),
		"--audit-log-path=" + l.audit(),
		"--audit-log-mode=blocking", // the entry is there when the response is
		"--audit-log-maxsize=200", "--audit-log-maxbackup=1",
		"--profiling=false",
	}
}

func controllerManagerArgs(l layout) []string {
	return []string{
		"--kubeconfig=" + l.configFile("kube-controller-manager.kubeconfig"),
		"--secure-port=0", // nothing asks it anything
		"--leader-elect=false",
		"--root-ca-file=" + l.cert("ca"),
		"--service-account-private-key-file=" + l.key("service-account"),
		"--node-monitor-period=1s",
		// It makes this directory, by default under /usr/libexec.
		"--flex-volume-plugin-dir=" + l.configFile("flex-volumes"),
		"--profiling=false",
	}
}

func schedulerArgs(l layout) []string {
	return []string{
		"--kubeconfig=" + l.configFile("kube-scheduler.kubeconfig"),
		"--secure-port=0",
		"--leader-elect=false",
		"--profiling=false",
	}
}

func kwokArgs(l layout) []string {
	return []string{
		"--kubeconfig=" + l.configFile("kwok.kubeconfig"),
		"--config=" + l.configFile("kwok.yaml"),
		"--manage-single-node=" + nodeName,
		"--node-ip=127.0.0.1",
		"--node-lease-duration-seconds=40",
		"--cidr=10.244.0.0/16",
	}
}

func loopbackURL(port int) string {
	return fmt.Sprintf("https://127.0.0.1:%d", port)
}
