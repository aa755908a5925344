// A library that only some views need, loaded once and when it is needed: flechette (Arrow).

const loading = new Map();

export const flechette = () => script("/page/vendor/flechette.min.js", "fl");

/** Return the global that a classic script defines. */
function script(path, global) {
  if (!loading.has(path)) loading.set(path, new Promise((done, failed) => {
    const element = document.createElement("script");
    element.src = path;
    element.onload = () => done(window[global]);
    element.onerror = () => {
      loading.delete(path);
      failed(new Error(`The service did not deliver ${path}. Load the page again.`));
    };
    document.head.append(element);
  }));
  return loading.get(path);
}
