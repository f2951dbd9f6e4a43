// Search without a server. Browsers refuse to start a Worker from file://, so the search runs in a hidden frame there.
// The frame offers the script what it uses of a Worker: `postMessage` and the event `message`.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = "<!doctype html><title>search</title>"
      this.started = new Promise((resolve) => {
        this.frame.onload = () => this.start(new URL(address, document.baseURI), resolve)
      })
      document.body.append(this.frame)
    }

    start(address, resolve) {
      const inside = this.frame.contentWindow
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inside.document.createElement("script")
      script.src = address
      script.onload = resolve
      script.onerror = () => this.dispatchEvent(new ErrorEvent("error", { message: `${address} cannot be loaded` }))
      inside.document.body.append(script)
    }

    postMessage(data) {
      const inside = this.frame.contentWindow
      this.started.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
