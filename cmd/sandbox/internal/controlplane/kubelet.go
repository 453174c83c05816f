package controlplane

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// kubeletAddress is the address of the node's kubelet for the API server. No process
// listens there: egress serves the connections itself.
const kubeletAddress = "127.0.0.1:10250"

// egress is an HTTP CONNECT proxy (RFC 9110, section 9.3.6) on a socket in the
// sandbox's directory. The API server sends it every connection into the
// cluster's own network. On connections to the kubelet it serves the logs of
// containers. All others it passes to a socket that only tests make; without
// that socket they fail at once, with an error that names its path.
type egress struct {
	done     <-chan struct{} // closed with the sandbox
	listener net.Listener
	conns    chan net.Conn
	beyond   string // path of the socket for everything else
}

// maxSocketPath is the longest path of a socket, in bytes, on Linux and macOS.
const maxSocketPath = 103

// startEgress starts listening, until ctx ends. The client reads the pods whose
// logs are asked for. If the path of the socket is too long, there are no logs.
func startEgress(ctx context.Context, l layout, client kubernetes.Interface) error {
	if len(l.egress()) > maxSocketPath {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(l.cert("kubelet"), l.key("kubelet"))
	if err != nil {
		return fmt.Errorf("reading the kubelet's certificate: %w", err)
	}
	listener, err := net.Listen("unix", l.egress())
	if err != nil {
		return fmt.Errorf("listening for the API server: %w", err)
	}
	e := &egress{done: ctx.Done(), listener: listener, conns: make(chan net.Conn), beyond: l.noNetwork()}
	kubelet := &http.Server{Handler: logHandler(client), ReadHeaderTimeout: 10 * time.Second}
	secure := tls.NewListener(e, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	go func() { _ = kubelet.Serve(secure) }()
	go e.accept()
	context.AfterFunc(ctx, func() { _ = listener.Close(); _ = kubelet.Close() })
	return nil
}

func (e *egress) accept() {
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return // closed at the end
		}
		go e.serve(conn)
	}
}

// serve answers one CONNECT.
func (e *egress) serve(conn net.Conn) {
	reader := bufio.NewReader(conn)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect || reader.Buffered() > 0 {
		_ = conn.Close()
		return
	}
	if request.RequestURI != kubeletAddress {
		e.pass(conn, request.RequestURI)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = conn.Close()
		return
	}
	select {
	case e.conns <- conn:
	case <-e.done:
		_ = conn.Close()
	}
}

// pass forwards a connection to the socket that tests make.
func (e *egress) pass(conn net.Conn, address string) {
	defer func() { _ = conn.Close() }()
	beyond, err := net.Dial("unix", e.beyond)
	if err != nil {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 502 %s\r\nContent-Length: 0\r\n\r\n", strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	defer func() { _ = beyond.Close() }()
	if _, err := fmt.Fprintf(beyond, "CONNECT %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", address); err != nil {
		return
	}
	go func() { _, _ = io.Copy(beyond, conn) }()
	_, _ = io.Copy(conn, beyond)
}

// Accept, Close and Addr make egress a listener for the connections to the kubelet.
func (e *egress) Accept() (net.Conn, error) {
	select {
	case conn := <-e.conns:
		return conn, nil
	case <-e.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (e *egress) Close() error { return nil }

// Addr implements [net.Listener].
func (e *egress) Addr() net.Addr { return e.listener.Addr() }

// logHandler serves the one endpoint of a kubelet that kwok cannot serve for each pod on
// its own: /containerLogs/NAMESPACE/POD/CONTAINER. A container's log is the text of the
// pod's annotation, else its fault's text.
func logHandler(client kubernetes.Interface) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		pod, err := client.CoreV1().Pods(r.PathValue("namespace")).Get(r.Context(), r.PathValue("pod"), metav1.GetOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		query := r.URL.Query()
		if query.Get("previous") == "true" && !ranBefore(pod, r.PathValue("container")) {
			http.Error(w, "previous terminated container not found", http.StatusBadRequest)
			return
		}
		text := logOf(pod)
		if n, err := strconv.Atoi(query.Get("tailLines")); err == nil {
			lines := strings.SplitAfter(text, "\n")
			text = strings.Join(lines[max(0, len(lines)-n):], "")
		}
		if n, err := strconv.Atoi(query.Get("limitBytes")); err == nil {
			text = text[:min(max(n, 0), len(text))]
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
	})
	return mux
}

func logOf(pod *corev1.Pod) string {
	if text, ok := pod.Annotations[logAnnotation]; ok {
		return text
	}
	if f := faultNamed(pod.Annotations[faultAnnotation]); f != nil {
		return f.log
	}
	return ""
}

// ranBefore reports whether a container has ended before and was started again.
func ranBefore(pod *corev1.Pod, container string) bool {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container && status.LastTerminationState.Terminated != nil {
			return true
		}
	}
	return false
}
