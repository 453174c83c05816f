package applier

// argoManager is the field manager of Argo CD.
const argoManager = "argocd-controller"
