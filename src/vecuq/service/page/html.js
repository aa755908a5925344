// The one place that knows which library draws the page.

export {
  Component, html, render, useState, useReducer, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useErrorBoundary,
} from "./vendor/preact-htm.module.js";
