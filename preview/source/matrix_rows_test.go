package source_test

import "testing"

// matrixRows is the table of [TestSlowEverySourceByLoginAndFault].
func matrixRows() []matrixRow {
	web := map[string]string{"none": ok, "basic": ok, "bearer": ok, "pull secret": na("a pull secret is for registries"), "ssh key": na("ssh alone takes keys")}
	local := map[string]string{"none": ok, "basic": na("nobody to log in to"), "bearer": na("nobody to log in to"), "pull secret": na("nobody to log in to"), "ssh key": na("nobody to log in to")}
	noServer := na("no server answers")
	return []matrixRow{
		{
			name: "image", data: within("/b/"), bulk: within("/blobs/"),
			start: func(t *testing.T, s *matrixServer) matrixCell { return s.image(t) },
			auths: map[string]string{"none": ok, "basic": ok, "bearer": ok, "pull secret": ok, "ssh key": na("ssh alone takes keys")},
			faults: map[string]string{
				"none": ok, "401": "refuses access (401", "expired": "refuses access (401", "429": "429", "5xx": "answered 500",
				"moved": ok, "truncated": "ends too early", "wrong digest": "do not match their digest", "redirect": ok,
				"too large": "ends too early", // a blob is read up to the size that its manifest gives
			},
		},
		{
			name: "layout", start: func(t *testing.T, s *matrixServer) matrixCell { return s.layout(t) }, auths: local,
			faults: map[string]string{
				"none": ok, "401": noServer, "expired": noServer, "429": noServer, "5xx": noServer, "redirect": noServer,
				"moved":     na("what is pinned is in the layout, whatever its tags say: TestALayoutIsReadAsItsRegistryIs"),
				"truncated": "digest", "wrong digest": "do not match their digest", "too large": na("caps are those of an image"),
			},
		},
		{
			name: "git https", data: everyRequest, bulk: ending("/git-upload-pack"),
			start: func(t *testing.T, s *matrixServer) matrixCell { return s.gitHTTPS(t) }, auths: web,
			faults: map[string]string{
				"none": ok, "401": "refuses access (401)", "expired": "refuses access (401)", "429": "429", "5xx": "answered 500",
				"moved": ok, "truncated": "ends too early", "wrong digest": "the pack is damaged", "redirect": ok, "too large": "at most",
			},
		},
		{
			name: "git ssh", start: func(t *testing.T, s *matrixServer) matrixCell { return s.gitSSH(t) },
			auths: map[string]string{"none": na("a server asks for a key"), "basic": na("ssh takes keys alone"), "bearer": na("ssh takes keys alone"), "pull secret": na("a pull secret is for registries"), "ssh key": ok},
			faults: map[string]string{
				"none": ok, "401": "takes none of the keys", "expired": na("a key does not expire"), "429": na("ssh has no such answer"), "5xx": na("ssh has no such answer"),
				"moved": ok, "truncated": na("the pack is read as that over https"), "wrong digest": na("the pack is read as that over https"),
				"redirect": "another key than known_hosts", "too large": na("the pack is read as that over https"),
			},
		},
		{
			name: "git file", start: func(t *testing.T, s *matrixServer) matrixCell { return s.gitFile(t) }, auths: local,
			faults: map[string]string{
				"none": ok, "401": noServer, "expired": noServer, "429": noServer, "5xx": noServer, "redirect": noServer, "moved": ok,
				"truncated":    na("objects are hashed: TestGitServersThatCannotBeTrusted"),
				"wrong digest": na("objects are hashed: TestGitServersThatCannotBeTrusted"), "too large": na("caps are those of git over https"),
			},
		},
		{
			name: "archive", data: everyRequest, bulk: everyRequest,
			start: func(t *testing.T, s *matrixServer) matrixCell { return s.archive(t) }, auths: web,
			faults: map[string]string{
				"none": ok, "401": "refuses access (401)", "expired": "refuses access (401)", "429": "429", "5xx": "answered 500",
				"moved": ok, "truncated": "ends too early", "wrong digest": "do not match their digest", "redirect": ok, "too large": "at most",
			},
		},
		{
			name: "directory", start: func(t *testing.T, s *matrixServer) matrixCell { return s.directory(t) }, auths: local,
			faults: map[string]string{
				"none": ok, "401": noServer, "expired": noServer, "429": noServer, "5xx": noServer, "redirect": noServer, "moved": ok,
				"truncated": na("a directory has the files that it has"), "wrong digest": na("its reference names no digest"), "too large": "may have",
			},
		},
		{
			name: "ConfigMap", start: func(t *testing.T, s *matrixServer) matrixCell { return s.configMap(t) }, auths: local,
			faults: map[string]string{
				"none": ok, "401": na("the API server's answers are package k8s' to explain"), "expired": na("as 401"), "429": na("as 401"), "5xx": na("as 401"), "redirect": na("as 401"),
				"moved": ok, "truncated": na("as 401"), "wrong digest": na("its reference names no digest"), "too large": na("the API server stores at most 1 MiB"),
			},
		},
		{
			name: "s3", data: everyRequest, bulk: everyRequest,
			start: func(t *testing.T, s *matrixServer) matrixCell { return s.s3(t) },
			auths: map[string]string{"none": ok, "basic": na("a store takes access keys, which come from the environment: TestAnS3ObjectIsPinnedByItsBytesAndOpensAgainOffline"), "bearer": na("as basic"), "pull secret": na("as basic"), "ssh key": na("as basic")},
			faults: map[string]string{
				"none": ok, "401": "refuses access (401", "expired": na("keys come from the environment"), "429": "429", "5xx": "answered 500",
				"moved": ok, "truncated": "ends too early", "wrong digest": na("its reference names no digest"), "redirect": "points elsewhere", "too large": "at most",
			},
		},
		{
			name: "gs", data: everyRequest, bulk: everyRequest,
			start: func(t *testing.T, s *matrixServer) matrixCell { return s.gs(t) },
			auths: map[string]string{"none": ok, "basic": na("a store takes tokens"), "bearer": na("a token is made of the environment's credentials, and goes to Google alone: TestGoogleIsAskedWithATokenOfTheDefaultCredentials"), "pull secret": na("as basic"), "ssh key": na("as basic")},
			faults: map[string]string{
				"none": ok, "401": "refuses access (401", "expired": na("tokens come from the environment"), "429": "429", "5xx": "answered 500",
				"moved": ok, "truncated": "ends too early", "wrong digest": na("its reference names no digest"), "redirect": "points elsewhere", "too large": "at most",
			},
		},
		{
			name: "chart", data: everyRequest, bulk: ending(".tgz"),
			start: func(t *testing.T, s *matrixServer) matrixCell { return s.chart(t) }, auths: web,
			faults: map[string]string{
				"none": ok, "401": "refuses access (401)", "expired": "refuses access (401)", "429": "429", "5xx": "answered 500",
				"moved": ok, "truncated": "ends too early", "wrong digest": "do not match their digest", "redirect": ok, "too large": "at most",
			},
		},
	}
}
