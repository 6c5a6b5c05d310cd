export default {
  // On the server Node runs the package as it is; in the browser it is bundled.
  serverExternalPackages: ["caselens"],
};
